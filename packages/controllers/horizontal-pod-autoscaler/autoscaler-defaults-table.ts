/** What kube-controller-manager takes when nobody says otherwise (--horizontal-pod-autoscaler-*). */
export const autoscalerDefaults = Object.freeze({
  syncMs: 15_000,
  downscaleStabilizationSeconds: 300,
  /** While a pod is this young its CPU figures may still be those of its start. */
  cpuInitializationMs: 5 * 60_000,
  /** A pod that was never ready by this age is not taken to have become unready. */
  initialReadinessMs: 30_000,
  tolerance: 0.1,
  /** Without a behavior: at most so many times the replicas, or so many, at once. */
  scaleUpFactor: 2,
  scaleUpMin: 4,
  replicasMax: 2 ** 31 - 1,
  answerBytesMax: 16 * 1024 * 1024,
})
