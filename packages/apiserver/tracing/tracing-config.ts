import { configError, parseConfig } from '../config-file/config-shape.ts'
import { FieldProblems } from '../config-file/field-problems.ts'
import { apiServerBounds } from '../limits-table.ts'

const kind = 'TracingConfiguration'
const { rateMax } = apiServerBounds.tracingConfig
/** The default address of a collector, on the same machine. */
const endpointDefault = 'localhost:4317'

export interface TracingConfig {
  /** The address in gRPC's form: host:port, dns://…, or unix://path. The connection is not encrypted. */
  readonly endpoint: string
  /** The part of new traces that is sampled, from 0 to 1. */
  readonly sampledPart: number
}

/** Reads upstream's apiserver.config.k8s.io TracingConfiguration. Throws ExpectedError. */
export function readTracingConfig(text: string): TracingConfig {
  const { endpoint = endpointDefault, samplingRatePerMillion: rate = 0 } = parseConfig(text, {
    kind,
    apiVersions: [
      'apiserver.config.k8s.io/v1',
      'apiserver.config.k8s.io/v1beta1',
      'apiserver.config.k8s.io/v1alpha1',
    ],
    fields: { endpoint: 'string', samplingRatePerMillion: 'number' },
  })
  const problems = new FieldProblems()
  checkRate(rate, problems)
  checkEndpoint(endpoint, problems)
  const summary = problems.summary()
  if (summary !== undefined) throw configError(kind, summary)
  return { endpoint, sampledPart: rate / rateMax }
}

function checkRate(rate: number, problems: FieldProblems): void {
  const field = 'samplingRatePerMillion'
  if (!Number.isInteger(rate)) problems.invalid(field, String(rate), 'must be a whole number')
  if (rate < 0) problems.invalid(field, String(rate), 'sampling rate must be positive')
  if (rate > rateMax) {
    const why = 'sampling rate per million must be less than or equal to one million'
    problems.invalid(field, String(rate), why)
  }
}

function checkEndpoint(endpoint: string, problems: FieldProblems): void {
  const [, scheme = 'dns'] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(endpoint) ?? []
  if (scheme === 'dns' || scheme === 'unix') return
  const why = `unsupported scheme: ${scheme}.  Options are none, dns, or unix`
  problems.invalid('endpoint', endpoint, why)
}
