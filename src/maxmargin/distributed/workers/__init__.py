"""What runs where the data are: threads of this process, or Dask workers."""
