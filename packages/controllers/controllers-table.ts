import {
  lateControllers,
  type BackgroundController,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { resources } from '@skerry/client'
import { attachDetachController } from './attach-detach/attach-detach-controller.ts'
import { daemonSetController } from './daemonset/daemon-set-controller.ts'
import { deploymentController } from './deployment/deployment-controller.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { jobController } from './job/job-controller.ts'
import { ttlAfterFinishedController } from './job/ttl-after-finished-controller.ts'
import { createNamespaceController } from './namespace/namespace-controller.ts'
import { resourceClaimController } from './resource-claim/resource-claim-controller.ts'
import {
  replicaSetController,
  replicationControllerController,
} from './replicaset/replica-set-controller.ts'
import { resourceQuotaController } from './resource-quota/resource-quota-controller.ts'
import { statefulSetController } from './statefulset/stateful-set-controller.ts'
import { csrApprovingController } from './certificates/csr-approving-controller.ts'
import { csrCleanerController } from './certificates/csr-cleaner-controller.ts'
import { podCertificateRequestCleanerController } from './certificates/pod-certificate-request-cleaner-controller.ts'
import { disruptionController } from './disruption/disruption-controller.ts'
import { endpointsController } from './endpoints/endpoints-controller.ts'
import { bootstrapSignerController } from './bootstrap/bootstrap-signer.ts'
import { tokenCleanerController } from './bootstrap/token-cleaner.ts'
import { clusterRoleAggregationController } from './clusterroleaggregation/cluster-role-aggregation-controller.ts'
import { endpointSliceMirroringController } from './endpointslicemirroring/endpoint-slice-mirroring-controller.ts'
import { serviceCidrController } from './servicecidrs/service-cidr-controller.ts'
import { serviceIpAddressController } from './servicecidrs/service-ip-addresses.ts'
import { ttlController } from './ttl/ttl-controller.ts'
import { attributesClassProtectionController } from './volumes/attributes-class-protection.ts'
import { ephemeralVolumeController } from './volumes/ephemeral-volume-controller.ts'
import { volumeExpanderController } from './volumes/volume-expander.ts'
import { endpointSliceController } from './endpointslice/endpointslice-controller.ts'
import { nodeLifecycleController } from './nodes/node-lifecycle-controller.ts'
import { taintEvictionController } from './nodes/taint-eviction-controller.ts'
import { podGcController } from './pod-gc/pod-gc-controller.ts'
import { legacyTokenCleanerController } from './serviceaccount/legacy-token-cleaner-controller.ts'
import { serviceAccountController } from './serviceaccount/service-account-controller.ts'
import { localPathProvisionerController } from './volumes/local-path-provisioner.ts'
import { persistentVolumeBinder } from './volumes/persistent-volume-binder.ts'
import {
  claimProtectionController,
  volumeProtectionController,
} from './volumes/volume-protection.ts'

/** Many sites have no object of these kinds. */
const late = Object.freeze({
  cronJobs: lateControllers({
    name: 'cronjob-controller',
    triggers: [resources.cronJobs],
    load: async () => [(await import('./cronjob/cron-job-controller.ts')).cronJobController],
  }),
  autoscalers: lateControllers({
    name: 'horizontal-pod-autoscaler-controller',
    triggers: [resources.horizontalPodAutoscalers],
    load: async () => {
      const { horizontalPodAutoscalerController: controller } =
        await import('./horizontal-pod-autoscaler/horizontal-pod-autoscaler-controller.ts')
      return [controller]
    },
  }),
  deviceTaints: lateControllers({
    name: 'device-taint-eviction-controller',
    triggers: [resources.resourceSlices],
    load: async () => {
      const { deviceTaintEvictionController: controller } =
        await import('./device-taint-eviction/device-taint-eviction-controller.ts')
      return [controller]
    },
  }),
})

/**
 * Every controller without a configuration, under the name in kube-controller-manager's
 * --controllers flag. The factories of mod.ts create the others.
 */
const controllers: Readonly<Record<string, ControllerDefinition | BackgroundController>> =
  Object.freeze({
    'cronjob-controller': late.cronJobs,
    'daemonset-controller': daemonSetController,
    'deployment-controller': deploymentController,
    'garbage-collector-controller': garbageCollector,
    'horizontal-pod-autoscaler-controller': late.autoscalers,
    'replicationcontroller-controller': replicationControllerController,
    'bootstrap-signer-controller': bootstrapSignerController,
    'clusterrole-aggregation-controller': clusterRoleAggregationController,
    'endpointslice-mirroring-controller': endpointSliceMirroringController,
    'ephemeral-volume-controller': ephemeralVolumeController,
    'persistentvolume-expander-controller': volumeExpanderController,
    'service-cidr-controller': serviceCidrController,
    'service-ip-address-controller': serviceIpAddressController,
    'token-cleaner-controller': tokenCleanerController,
    'ttl-controller': ttlController,
    'volumeattributesclass-protection-controller': attributesClassProtectionController,
    'job-controller': jobController,
    'namespace-controller': createNamespaceController(),
    'replicaset-controller': replicaSetController,
    'resourceclaim-controller': resourceClaimController,
    'resourcequota-controller': resourceQuotaController,
    'statefulset-controller': statefulSetController,
    'ttl-after-finished-controller': ttlAfterFinishedController,
    'certificatesigningrequest-approving-controller': csrApprovingController,
    'certificatesigningrequest-cleaner-controller': csrCleanerController,
    'device-taint-eviction-controller': late.deviceTaints,
    'disruption-controller': disruptionController,
    'endpoints-controller': endpointsController,
    'endpointslice-controller': endpointSliceController,
    'legacy-serviceaccount-token-cleaner-controller': legacyTokenCleanerController,
    'local-path-provisioner': localPathProvisionerController,
    'node-lifecycle-controller': nodeLifecycleController,
    'persistentvolume-attach-detach-controller': attachDetachController,
    'persistentvolume-binder-controller': persistentVolumeBinder,
    'persistentvolume-protection-controller': volumeProtectionController,
    'persistentvolumeclaim-protection-controller': claimProtectionController,
    'podcertificaterequest-cleaner-controller': podCertificateRequestCleanerController,
    'pod-garbage-collector-controller': podGcController,
    'serviceaccount-controller': serviceAccountController,
    'taint-eviction-controller': taintEvictionController,
  })

/**
 * Returns these controllers, or all of the table. A file that imports it loads all of them. Throws RangeError for an
 * unknown name.
 */
export function namedControllers(
  names: 'all' | readonly string[],
): (ControllerDefinition | BackgroundController)[] {
  if (names === 'all') return Object.values(controllers)
  return names.map((name) => {
    const controller = controllers[name]
    if (controller) return controller
    throw new RangeError(`Cannot run controller "${name}": there is none with this name`)
  })
}
