import { grpcCodes, type GrpcCode } from './grpc-error.ts'

/** The number of calls of one method that ended, by code. */
type CountsByCode = Map<GrpcCode, number>

/** Counts calls by method and code, as etcd's metrics show them. */
export class CallCounts {
  readonly #byMethod = new Map<string, CountsByCode>()

  /** Takes a path such as `/etcdserverpb.KV/Range`. */
  add(path: string, code: GrpcCode): void {
    const known = this.#byMethod.get(path)
    if (known) known.set(code, (known.get(code) ?? 0) + 1)
    else this.#byMethod.set(path, new Map([[code, 1]]))
  }

  *[Symbol.iterator](): Generator<{
    service: string
    method: string
    code: GrpcCode
    count: number
  }> {
    for (const [path, counts] of this.#byMethod) {
      const [, service = '', method = ''] = path.split('/')
      for (const [code, count] of counts) yield { service, method, code, count }
    }
  }
}

/** Returns the name of a code as Go's gRPC writes it in metrics: `OK`, `NotFound`. */
export function metricNameOf(code: GrpcCode): string {
  if (grpcCodes[code] === grpcCodes.ok) return 'OK'
  return `${code.charAt(0).toUpperCase()}${code.slice(1)}`
}
