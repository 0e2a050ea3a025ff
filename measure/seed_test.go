package measure

import _ "rnicmmu/internal/seed"
