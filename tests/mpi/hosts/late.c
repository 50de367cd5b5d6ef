// Is not linked with MPI: everywhere.c comes in by dlopen, and the MPI library with it, both with local scope, as in a scripting
// language.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int*, char***) = module ? (int (*)(int*, char***))dlsym(module, "run") : NULL;
  if (!run) {
    puts(module ? "no function run" : dlerror());
    return 1;
  }
  argc = 1;
  return run(&argc, &argv);
}
