"""Values of kernels in tiles and sums: where K is computed."""
