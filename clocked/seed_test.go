package clocked

import _ "rnicmmu/internal/seed"
