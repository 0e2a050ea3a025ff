package cache

import _ "rnicmmu/internal/seed"
