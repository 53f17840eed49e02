import type { GrpcServices } from '../grpc/grpc-call.ts'
import { authService } from './auth-service.ts'
import { clusterService } from './cluster-service.ts'
import { healthService } from './health-service.ts'
import { kvService } from './kv-service.ts'
import { leaseService } from './lease-service.ts'
import { maintenanceService } from './maintenance-service.ts'
import type { ServiceContext } from './service-context.ts'
import { watchService } from './watch-service.ts'

/** Everything that the server answers, by service and method. Other methods are unknown to it, as gRPC reports. */
export function etcdServices(context: ServiceContext): GrpcServices {
  return {
    'etcdserverpb.KV': kvService(context),
    'etcdserverpb.Watch': watchService(context),
    'etcdserverpb.Lease': leaseService(context),
    'etcdserverpb.Maintenance': maintenanceService(context),
    'etcdserverpb.Cluster': clusterService(context),
    'etcdserverpb.Auth': authService(context),
    'grpc.health.v1.Health': healthService(),
  }
}
