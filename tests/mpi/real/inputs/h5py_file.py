import h5py, numpy as np
from mpi4py import MPI
c=MPI.COMM_WORLD
with h5py.File("x.h5","w",driver="mpio",comm=c) as f:
    d=f.create_dataset("d",(c.size,200000),dtype="f8")
    d[c.rank]=np.arange(200000)*(c.rank+1)
c.Barrier()
with h5py.File("x.h5","r",driver="mpio",comm=c) as f:
    s=float(f["d"][(c.rank+1)%c.size].sum())
t=c.gather(s)
if c.rank==0: print("sums",t)
