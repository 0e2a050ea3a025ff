package coverage

import _ "rnicmmu/internal/seed"
