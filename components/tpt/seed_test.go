package tpt

import _ "rnicmmu/internal/seed"
