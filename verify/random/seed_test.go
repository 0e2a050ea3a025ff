package random

import _ "rnicmmu/internal/seed"
