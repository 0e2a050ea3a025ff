package workload

import _ "rnicmmu/internal/seed"
