package transport

import _ "rnicmmu/internal/seed"
