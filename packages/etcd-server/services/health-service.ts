import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'

const serving = 1

/** grpc.health.v1.Health: it serves as long as it answers. */
export function healthService(): Readonly<Record<string, GrpcMethod>> {
  return { Check: unary('Empty', 'HealthCheckResponse', () => ({ status: serving })) }
}
