package pagetable

import _ "rnicmmu/internal/seed"
