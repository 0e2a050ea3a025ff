package memory

import _ "rnicmmu/internal/seed"
