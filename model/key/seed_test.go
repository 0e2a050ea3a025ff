package key

import _ "rnicmmu/internal/seed"
