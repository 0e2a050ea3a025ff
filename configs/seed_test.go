package configs

import _ "rnicmmu/internal/seed"
