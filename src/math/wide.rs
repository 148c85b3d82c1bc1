//! Loops with the widest vectors of this processor, chosen when the program runs.

/// Does work whose loops are compiled into it (`#[inline(always)]`), with the vector instructions that this
/// processor has. No operations are fused, so that every processor gives the same bits.
#[inline]
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn avx512<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        #[allow(unsafe_code)]
        if has_avx512 {
            // SAFETY: the processor has what the function is compiled for
            return unsafe { avx512(work) };
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: as above
            return unsafe { avx2(work) };
        }
    }
    work()
}
