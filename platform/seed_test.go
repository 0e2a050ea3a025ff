package platform

import _ "rnicmmu/internal/seed"
