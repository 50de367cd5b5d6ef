import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
c=MPI.COMM_WORLD
f=PFFT(c,[48,48,48],axes=(0,1,2),dtype=np.double)
u=newDistArray(f,False); u[:]=np.random.RandomState(c.rank).rand(*u.shape)
h=f.forward(u); v=f.backward(h,np.zeros_like(u))
e=c.allreduce(float(abs(v-u).max()),MPI.MAX); s=c.allreduce(float(abs(h).sum()))
if c.rank==0: print("error small",e<1e-12,"sum %.9e"%s)
