title
 4 1 1 1
psa           2 2 2 0
(3I2)           (2I2)
 1 3 3
 1 2
