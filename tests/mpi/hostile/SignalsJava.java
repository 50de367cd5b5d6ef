/** A program of a runtime that lives on SIGSEGV: null checks and safepoints of the virtual machine are faults. Calls MPI through JNI. */
import java.nio.ByteBuffer;

public final class SignalsJava {
  private static native void init();
  private static native int rank();
  private static native void receive(ByteBuffer buffer, int from);
  private static native void sendLate(ByteBuffer buffer, int to);
  private static native void end();

  private static final int LARGE = 600_000;
  private static final int TURNS = 20;

  private static final class Box {
    int value = 1;
  }

  private static int nullChecks(Box[] boxes) {
    int caught = 0;
    for (Box box : boxes) {
      try {
        caught += box.value - 1;
      } catch (NullPointerException expected) {
        caught++;
      }
    }
    return caught;
  }

  private static long sum(ByteBuffer buffer) {
    long sum = 0;
    for (int i = 0; i < LARGE; i++) sum += buffer.get(i);
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    System.loadLibrary("signals_java");
    init();
    final int rank = rank();
    final Box[] boxes = new Box[20_000];
    for (int i = 0; i < boxes.length; i += 2) boxes[i] = new Box();
    final Thread garbage = new Thread(() -> {
      try {
        for (;; Thread.sleep(2)) System.gc();
      } catch (InterruptedException over) {
        return;
      }
    });
    garbage.start();
    for (int turn = 0; turn < TURNS; turn++) {
      final ByteBuffer buffer = ByteBuffer.allocateDirect(LARGE);
      if (rank % 2 == 0) {
        for (int i = 0; i < LARGE; i++) buffer.put(i, (byte) (i * 7 + turn));
        sendLate(buffer, rank + 1);
      } else {
        receive(buffer, rank - 1);
        final int caught = nullChecks(boxes);
        // In one piece: println makes two, and a line of the other rank's may come between.
        System.out.print("CASE turn_" + turn + " " + rank + ": sum " + sum(buffer) + ", null checks " + caught + "\n");
      }
    }
    garbage.interrupt();
    garbage.join();
    end();
  }
}
