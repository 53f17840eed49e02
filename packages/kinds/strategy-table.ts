import type { Strategy } from '@skerry/api'
import {
  mutatingAdmissionPolicyBindingStrategy,
  mutatingAdmissionPolicyStrategy,
  validatingAdmissionPolicyBindingStrategy,
  validatingAdmissionPolicyStrategy,
} from './strategies/admissionregistration/admission-policy.ts'
import {
  mutatingWebhookConfigurationStrategy,
  validatingWebhookConfigurationStrategy,
} from './strategies/admissionregistration/webhook-configuration.ts'
import { customResourceDefinitionStrategy } from './strategies/apiextensions/custom-resource-definition.ts'
import { apiServiceStrategy } from './strategies/apiregistration/api-service.ts'
import { controllerRevisionStrategy } from './strategies/apps/controller-revision.ts'
import { daemonSetStrategy } from './strategies/apps/daemon-set.ts'
import { deploymentStrategy } from './strategies/apps/deployment.ts'
import { replicaSetStrategy } from './strategies/apps/replica-set.ts'
import { statefulSetStrategy } from './strategies/apps/stateful-set.ts'
import {
  horizontalPodAutoscalerStrategy,
  horizontalPodAutoscalerV1Strategy,
} from './strategies/autoscaling/horizontal-pod-autoscaler.ts'
import { cronJobStrategy } from './strategies/batch/cron-job.ts'
import { jobStrategy } from './strategies/batch/job.ts'
import { certificateSigningRequestStrategy } from './strategies/certificates/certificate-signing-request.ts'
import { clusterTrustBundleStrategy } from './strategies/certificates/cluster-trust-bundle.ts'
import { podCertificateRequestStrategy } from './strategies/certificates/pod-certificate-request.ts'
import { leaseStrategy } from './strategies/coordination/lease.ts'
import { leaseCandidateStrategy } from './strategies/coordination/lease-candidate.ts'
import { configMapStrategy } from './strategies/core/config-map.ts'
import { endpointsStrategy } from './strategies/core/endpoints.ts'
import { limitRangeStrategy } from './strategies/core/limit-range.ts'
import { namespaceStrategy } from './strategies/core/namespace.ts'
import { nodeStrategy } from './strategies/core/node.ts'
import { persistentVolumeStrategy } from './strategies/core/persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './strategies/core/persistent-volume-claim.ts'
import { podStrategy } from './strategies/core/pod.ts'
import { podTemplateStrategy } from './strategies/core/pod-template.ts'
import { replicationControllerStrategy } from './strategies/core/replication-controller.ts'
import { resourceQuotaStrategy } from './strategies/core/resource-quota.ts'
import { secretStrategy } from './strategies/core/secret.ts'
import { serviceStrategy } from './strategies/core/service.ts'
import { serviceAccountStrategy } from './strategies/core/service-account.ts'
import { endpointSliceStrategy } from './strategies/discovery/endpoint-slice.ts'
import { eventStrategy, eventsEventStrategy } from './strategies/events/event.ts'
import { flowSchemaStrategy } from './strategies/flowcontrol/flow-schema.ts'
import { priorityLevelConfigurationStrategy } from './strategies/flowcontrol/priority-level-configuration.ts'
import { ingressStrategy } from './strategies/networking/ingress.ts'
import { ingressClassStrategy } from './strategies/networking/ingress-class.ts'
import { ipAddressStrategy } from './strategies/networking/ip-address.ts'
import { networkPolicyStrategy } from './strategies/networking/network-policy.ts'
import { serviceCidrStrategy } from './strategies/networking/service-cidr.ts'
import { runtimeClassStrategy } from './strategies/node/runtime-class.ts'
import { podDisruptionBudgetStrategy } from './strategies/policy/pod-disruption-budget.ts'
import { clusterRoleStrategy, roleStrategy } from './strategies/rbac/role.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './strategies/rbac/role-binding.ts'
import { deviceClassStrategy, deviceTaintRuleStrategy } from './strategies/resource/device-class.ts'
import { claimTemplateToV1, claimToV1, sliceToV1 } from './strategies/resource/device-versions.ts'
import {
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
} from './strategies/resource/resource-claim.ts'
import { resourceSliceStrategy } from './strategies/resource/resource-slice.ts'
import { priorityClassStrategy } from './strategies/scheduling/priority-class.ts'
import { csiDriverStrategy } from './strategies/storage/csi-driver.ts'
import { csiNodeStrategy } from './strategies/storage/csi-node.ts'
import { csiStorageCapacityStrategy } from './strategies/storage/csi-storage-capacity.ts'
import { storageClassStrategy } from './strategies/storage/storage-class.ts'
import { volumeAttachmentStrategy } from './strategies/storage/volume-attachment.ts'
import { volumeAttributesClassStrategy } from './strategies/storage/volume-attributes-class.ts'
import { storageVersionMigrationStrategy } from './strategies/storagemigration/storage-version-migration.ts'
import { podSpecs, withoutDisabledPodFields } from './strategies/core/disabled-pod-fields.ts'
import { validatedInVersion } from './strategies/validated-in-version.ts'

/**
 * The hooks of the built-in kinds, keyed `group/Kind`; core kinds as `/Pod`; a version with its own
 * hooks as `group/version/Kind`. Kinds that are answered and never stored (reviews, Binding, …)
 * have none.
 */
export const strategies: Readonly<Record<string, Strategy>> = Object.freeze({
  '/ConfigMap': configMapStrategy,
  '/Endpoints': endpointsStrategy,
  '/Event': eventStrategy,
  '/LimitRange': limitRangeStrategy,
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/PersistentVolume': persistentVolumeStrategy,
  '/PersistentVolumeClaim': persistentVolumeClaimStrategy,
  '/Pod': withoutDisabledPodFields(podStrategy, podSpecs.ofPod),
  '/PodTemplate': withoutDisabledPodFields(podTemplateStrategy, podSpecs.ofPodTemplate),
  '/ReplicationController': withoutDisabledPodFields(
    replicationControllerStrategy,
    podSpecs.ofTemplate,
  ),
  '/ResourceQuota': resourceQuotaStrategy,
  '/Secret': secretStrategy,
  '/Service': serviceStrategy,
  '/ServiceAccount': serviceAccountStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding':
    mutatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingWebhookConfigurationStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding':
    validatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration':
    validatingWebhookConfigurationStrategy,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionStrategy,
  'apiregistration.k8s.io/APIService': apiServiceStrategy,
  'apps/ControllerRevision': controllerRevisionStrategy,
  'apps/DaemonSet': withoutDisabledPodFields(daemonSetStrategy, podSpecs.ofTemplate),
  'apps/Deployment': withoutDisabledPodFields(deploymentStrategy, podSpecs.ofTemplate),
  'apps/ReplicaSet': withoutDisabledPodFields(replicaSetStrategy, podSpecs.ofTemplate),
  'apps/StatefulSet': withoutDisabledPodFields(statefulSetStrategy, podSpecs.ofTemplate),
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerStrategy,
  'autoscaling/v1/HorizontalPodAutoscaler': horizontalPodAutoscalerV1Strategy,
  'batch/CronJob': withoutDisabledPodFields(cronJobStrategy, podSpecs.ofJobTemplate),
  'batch/Job': withoutDisabledPodFields(jobStrategy, podSpecs.ofTemplate),
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestStrategy,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundleStrategy,
  'certificates.k8s.io/PodCertificateRequest': podCertificateRequestStrategy,
  'coordination.k8s.io/Lease': leaseStrategy,
  'coordination.k8s.io/LeaseCandidate': leaseCandidateStrategy,
  'discovery.k8s.io/EndpointSlice': endpointSliceStrategy,
  'events.k8s.io/Event': eventsEventStrategy,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfigurationStrategy,
  'networking.k8s.io/IPAddress': ipAddressStrategy,
  'networking.k8s.io/Ingress': ingressStrategy,
  'networking.k8s.io/IngressClass': ingressClassStrategy,
  'networking.k8s.io/NetworkPolicy': networkPolicyStrategy,
  'networking.k8s.io/ServiceCIDR': serviceCidrStrategy,
  'node.k8s.io/RuntimeClass': runtimeClassStrategy,
  'policy/PodDisruptionBudget': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'resource.k8s.io/DeviceClass': deviceClassStrategy,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRuleStrategy,
  'resource.k8s.io/ResourceClaim': resourceClaimStrategy,
  'resource.k8s.io/ResourceClaimTemplate': resourceClaimTemplateStrategy,
  'resource.k8s.io/ResourceSlice': resourceSliceStrategy,
  'resource.k8s.io/v1beta1/ResourceClaim': validatedInVersion(resourceClaimStrategy, claimToV1),
  'resource.k8s.io/v1beta1/ResourceClaimTemplate': validatedInVersion(
    resourceClaimTemplateStrategy,
    claimTemplateToV1,
  ),
  'resource.k8s.io/v1beta1/ResourceSlice': validatedInVersion(resourceSliceStrategy, sliceToV1),
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
  'storage.k8s.io/CSIDriver': csiDriverStrategy,
  'storage.k8s.io/CSINode': csiNodeStrategy,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityStrategy,
  'storage.k8s.io/StorageClass': storageClassStrategy,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentStrategy,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassStrategy,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationStrategy,
})
