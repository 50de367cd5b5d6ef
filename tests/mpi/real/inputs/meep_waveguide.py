import meep as mp
mp.verbosity(0)
sim=mp.Simulation(cell_size=mp.Vector3(8,6),boundary_layers=[mp.PML(1)],geometry=[mp.Block(mp.Vector3(mp.inf,1,mp.inf),material=mp.Medium(epsilon=12))],sources=[mp.Source(mp.ContinuousSource(frequency=0.15),mp.Ez,mp.Vector3(-2))],resolution=10)
sim.run(until=20)
e=sim.field_energy_in_box(mp.Volume(size=mp.Vector3(4,4)))
p=sim.get_field_point(mp.Ez,mp.Vector3(1,0))
if mp.am_master(): print("energy %.12e field %.12e"%(e,p.real))
