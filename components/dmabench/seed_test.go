package dmabench

import _ "rnicmmu/internal/seed"
