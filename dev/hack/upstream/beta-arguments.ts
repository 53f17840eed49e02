import { betaSwitches } from '../../differential/corpus.ts'

/** Returns the arguments with which upstream's API server serves the beta APIs of the corpus. */
export function betaArguments(): string[] {
  const list = (record: Readonly<Record<string, string>>): string =>
    Object.entries(record)
      .map(([key, value]) => `${key}=${value}`)
      .join(',')
  const { runtimeConfig, featureGates } = betaSwitches
  return [`--runtime-config=${list(runtimeConfig)}`, `--feature-gates=${list(featureGates)}`]
}
