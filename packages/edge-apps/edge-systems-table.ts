import {
  lateControllers,
  type BackgroundController,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appController } from './children/app-controller.ts'
import type { DefinedKind } from './definitions/definition.ts'
import { kubeedgeKinds } from './definitions/kubeedge-table.ts'
import { openyurtKinds } from './definitions/openyurt-table.ts'
import { superedgeKinds } from './definitions/superedge-table.ts'
import { edgeApplicationKind } from './kubeedge/edge-application-kind.ts'
import { edgeGroupKind } from './kubeedge/edge-group.ts'
import { nodePoolKind } from './openyurt/node-pool.ts'
import { yurtAppSetKind } from './openyurt/yurt-app-set-kind.ts'
import { serviceGridKind } from './superedge/service-grids.ts'
import { deploymentGridKind, statefulSetGridKind } from './superedge/workload-grids.ts'
import { nodeGroupController } from './units/node-group-controller.ts'
import { nodeSettingsController } from './units/node-settings-controller.ts'
import { nodeSetControllers } from './units/node-sets.ts'
import { nodeUnitController } from './units/node-unit-controller.ts'

/** A system whose kinds of applications are served. */
export interface EdgeSystem {
  readonly kinds: readonly DefinedKind[]
  /** Creates its controllers; each run has its own. */
  readonly controllers: () => readonly (ControllerDefinition | BackgroundController)[]
}

/** The systems, by the word that an option has for each. */
export const edgeSystems: Readonly<Record<string, EdgeSystem>> = Object.freeze({
  superedge: {
    kinds: superedgeKinds,
    controllers: () => [
      appController(deploymentGridKind),
      appController(statefulSetGridKind),
      appController(serviceGridKind),
      nodeSettingsController,
      nodeUnitController,
      nodeGroupController,
    ],
  },
  kubeedge: {
    kinds: kubeedgeKinds,
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
