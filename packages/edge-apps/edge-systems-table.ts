import {
  lateControllers,
  type BackgroundController,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appController } from './children/app-controller.ts'
import type { App, AppKind } from './children/app-kind.ts'
import type { DefinedKind } from './definitions/definition.ts'
import { kubeedgeKinds } from './kubeedge/definitions-table.ts'
import { edgeApplicationKind } from './kubeedge/edge-application-kind.ts'
import { edgeGroupKind } from './kubeedge/edge-group.ts'
import type { UnitActs } from './levels/unit-acts.ts'
import { unitClusterController } from './levels/unit-cluster-controller.ts'
import { nodeSetControllers } from './nodes/node-sets.ts'
import { nodeSettingsController } from './nodes/node-settings-controller.ts'
import { openyurtKinds } from './openyurt/definitions-table.ts'
import { nodePoolKind } from './openyurt/node-pool.ts'
import { yurtAppSetKind } from './openyurt/yurt-app-set-kind.ts'
import { superedgeKinds } from './superedge/definitions-table.ts'
import { nodeGroupController } from './superedge/node-group-controller.ts'
import { nodeUnitController } from './superedge/node-unit-controller.ts'
import { serviceGridKind } from './superedge/service-grids.ts'
import { nodeUnitSettings } from './superedge/unit-nodes.ts'
import { deploymentGridKind, statefulSetGridKind } from './superedge/workload-grids.ts'

/** A system whose kinds of applications are served. */
export interface EdgeSystem {
  readonly kinds: readonly DefinedKind[]
  /** Calls `use` with each of its kinds of applications, whose types differ. */
  readonly apps: <R>(use: <T extends App>(kind: AppKind<T>) => R) => readonly R[]
  /** Creates its controllers; each run has its own. With the acts, units can become clusters of their own. */
  readonly controllers: (
    acts?: UnitActs,
  ) => readonly (ControllerDefinition | BackgroundController)[]
}

/** The systems, by the word that an option has for each. */
export const edgeSystems: Readonly<Record<string, EdgeSystem>> = Object.freeze({
  superedge: {
    kinds: superedgeKinds,
    apps: (use) => [use(deploymentGridKind), use(statefulSetGridKind), use(serviceGridKind)],
    controllers: (acts) => [
      appController(deploymentGridKind),
      appController(statefulSetGridKind),
      appController(serviceGridKind),
      nodeSettingsController('nodeunit-settings-controller', nodeUnitSettings),
      nodeUnitController(),
      unitClusterController(acts),
      nodeGroupController,
    ],
  },
  kubeedge: {
    kinds: kubeedgeKinds,
    apps: (use) => [use(edgeApplicationKind)],
    controllers: () => [
      ...nodeSetControllers(edgeGroupKind),
      lateControllers({
        name: 'edge-applications',
        triggers: [edgeApplicationKind.resource],
        load: () => Promise.resolve([appController(edgeApplicationKind)]),
      }),
    ],
  },
  openyurt: {
    kinds: openyurtKinds,
    apps: (use) => [use(yurtAppSetKind)],
    controllers: () => [
      ...nodeSetControllers(nodePoolKind),
      lateControllers({
        name: 'yurt-app-sets',
        triggers: [yurtAppSetKind.resource],
        load: () => Promise.resolve([appController(yurtAppSetKind)]),
      }),
    ],
  },
})
