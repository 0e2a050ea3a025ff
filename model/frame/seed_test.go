package frame

import _ "rnicmmu/internal/seed"
