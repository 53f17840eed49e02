import { GrpcChannel, loadMethods } from '../cri/grpc-channel.ts'

export interface HealthRequest {
  /** host:port. */
  address: string
  /** The service to check; an empty string means the server as a whole. */
  service: string
  timeoutMs: number
}

/** Calls grpc.health.v1.Health/Check. Resolves with the name of the serving status; rejects without an answer. */
export async function grpcHealth(
  { address, service, timeoutMs }: HealthRequest,
  signal: AbortSignal,
): Promise<string> {
  const methods = loadMethods({
    package: 'grpc.health.v1',
    service: 'Health',
    methods: { Check: ['HealthCheckRequest', 'HealthCheckResponse'] },
    messages: {
      HealthCheckRequest: { service: 'string 1' },
      HealthCheckResponse: { status: 'ServingStatus 1' },
    },
    enums: { ServingStatus: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
  })
  const check = methods['Check']
  if (!check) throw new RangeError('Cannot check health: Check is not in the schema table')
  using channel = new GrpcChannel(address)
  const answer = await channel.unary(check, { service }, { timeoutMs }, signal)
  // The schema above decoded it.
  return (answer as { status: string }).status
}
