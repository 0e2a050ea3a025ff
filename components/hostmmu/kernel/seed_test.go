package kernel

import _ "rnicmmu/internal/seed"
