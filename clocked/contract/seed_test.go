package contract

import _ "rnicmmu/internal/seed"
