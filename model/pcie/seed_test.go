package pcie

import _ "rnicmmu/internal/seed"
