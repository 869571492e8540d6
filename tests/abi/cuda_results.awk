# The enumerators of CUresult in <cuda.h>, as initializers: value, name.
/^typedef enum cudaError_enum/ { inside = 1 }
/^}/ { inside = 0 }
inside && match($0, /CUDA_[A-Z0-9_]+ *= *[0-9]+/) {
    split(substr($0, RSTART, RLENGTH), part, / *= */)
    printf "{%s, \"%s\"},\n", part[2], part[1]
}
