package iommu

import _ "rnicmmu/internal/seed"
