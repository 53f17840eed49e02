import type { BackgroundController, ControllerDefinition } from '@skerry/controller-runtime'
import { deploymentController } from './deployment/deployment-controller.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { namespaceController } from './namespace/namespace-controller.ts'
import { replicaSetController } from './replicaset/replica-set-controller.ts'

/** Every controller, named as kube-controller-manager's --controllers flag names it. */
export const controllers: Readonly<Record<string, ControllerDefinition | BackgroundController>> =
  Object.freeze({
    'deployment-controller': deploymentController,
    'garbage-collector-controller': garbageCollector,
    'namespace-controller': namespaceController,
    'replicaset-controller': replicaSetController,
  })
