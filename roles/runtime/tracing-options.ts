export interface TracingFlags {
  tracingConfigFile?: string | undefined
}
