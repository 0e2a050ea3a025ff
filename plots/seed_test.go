package plots

import _ "rnicmmu/internal/seed"
