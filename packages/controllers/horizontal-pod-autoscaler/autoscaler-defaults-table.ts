/** The defaults of kube-controller-manager (--horizontal-pod-autoscaler-*). */
export const autoscalerDefaults = Object.freeze({
  syncMs: 15_000,
  downscaleStabilizationSeconds: 300,
  /** The CPU figures of a younger pod may still be those of its start. */
  cpuInitializationMs: 5 * 60_000,
  /** A pod that was never ready by this age is not assumed to have become unready. */
  initialReadinessMs: 30_000,
  tolerance: 0.1,
  /** Without a behavior, the replicas grow at once by at most this factor, or to at least this many. */
  scaleUpFactor: 2,
  scaleUpMin: 4,
  replicasMax: 2 ** 31 - 1,
  answerBytesMax: 16 * 1024 * 1024,
})
