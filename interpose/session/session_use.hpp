// Uses of the session by the C library's wrappers, which any thread may call at any time, also while another one is in
// MPI_Finalize. Calls of MPI need none of this: they are over before MPI_Finalize begins.
//
//     who uses it                               who ends it
//     uses += 1           (seq_cst)             ending = true
//     engaged?            (seq_cst)             engaged = false          (seq_cst)
//     ... session(), engine() ...               until uses is 0, yields  (seq_cst)
//     uses -= 1           (release)             destroys them; what remains is in remaining_memory
//                                               ending = false           (release)
//
// One of the two sees the other (Dekker). Nothing is under guard by then, so whoever is inside only has to leave. A fork that
// comes too late, and must know what remains, waits until `ending` is false. Allocators' calls must not: they hold locks that
// the host wants meanwhile.
#pragma once

namespace sluice {

class SessionUse {
 public:
  SessionUse() : engaged_(begin()) {}
  ~SessionUse() { end(); }
  SessionUse(const SessionUse&) = delete;
  SessionUse& operator=(const SessionUse&) = delete;

  /// There is a session, and as long as this object lives it does not end.
  explicit operator bool() const { return engaged_; }

  /// The same for uses that are no scopes. Whatever `begin` answers, `end` comes next, in the same thread.
  static bool begin();
  static void end();

  /// Where there is no session any more: returns when it has ended.
  static void wait_until_ended();
  /// In the child of a fork there is none that ends.
  static void forget_ending();

 private:
  bool engaged_;
};

/// While it lives, the session ends: nobody begins to use it any more, and no other thread uses it. A thread that has left its
/// use by a jump out of a signal handler is not waited for without end.
class SessionEnd {
 public:
  SessionEnd();
  ~SessionEnd();
  SessionEnd(const SessionEnd&) = delete;
  SessionEnd& operator=(const SessionEnd&) = delete;
};

}  // namespace sluice
