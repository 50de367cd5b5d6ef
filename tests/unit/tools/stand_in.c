/* Libraries that `sluice check` must tell from the right ones; compiled once for each KIND. */
#include <string.h>

#ifdef ANOTHER_TOOL /* a PMPI tool */
int PMPI_Send(const void*, int, void*, int, int, void*) __attribute__((weak));
int MPI_Send(const void* buffer, int count, void* type, int target, int tag, void* comm) {
  return PMPI_Send ? PMPI_Send(buffer, count, type, target, tag, comm) : 0;
}
#endif

#ifdef ANOTHER_VERSION /* libmpi.so.40 of an Open MPI that Sluice was not tested with */
int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, "Open MPI v3.1.6, package: none");
  *length = (int)strlen(text);
  return 0;
}
#endif

#ifdef CALLS_INSIDE /* libmpi_mpifh.so.40 with the MPI library inside */
int PMPI_Recv(void) { return 0; }
int mpi_recv_(void) { return PMPI_Recv(); }
#endif
