package rc

import _ "rnicmmu/internal/seed"
