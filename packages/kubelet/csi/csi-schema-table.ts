import type { ServiceShape } from '../cri/grpc-channel.ts'

/**
 * The part of the container storage interface (csi.v1) and of kubelet's registration of plugins that a node
 * speaks, as `field: 'type number'`. Field numbers are the wire contract (CSI 1.9's csi.proto, and api.proto of
 * k8s.io/kubelet's pluginregistration/v1, whose package has no version in its name).
 */
const messages = Object.freeze({
  Empty: {},
  Topology: { segments: 'map<string,string> 1' },
  NodeInfoResponse: {
    nodeId: 'string 1',
    maxVolumesPerNode: 'int64 2',
    accessibleTopology: 'Topology 3',
  },
  RpcCapability: { type: 'CapabilityType 1' },
  NodeCapability: { rpc: 'RpcCapability 1' },
  NodeCapabilitiesResponse: { capabilities: 'repeated NodeCapability 1' },

  MountVolume: {
    fsType: 'string 1',
    mountFlags: 'repeated string 2',
    volumeMountGroup: 'string 3',
  },
  AccessMode: { mode: 'AccessModeType 1' },
  VolumeCapability: { block: 'Empty 1', mount: 'MountVolume 2', accessMode: 'AccessMode 3' },
  StageRequest: {
    volumeId: 'string 1',
    publishContext: 'map<string,string> 2',
    stagingTargetPath: 'string 3',
    volumeCapability: 'VolumeCapability 4',
    secrets: 'map<string,string> 5',
    volumeContext: 'map<string,string> 6',
  },
  UnstageRequest: { volumeId: 'string 1', stagingTargetPath: 'string 2' },
  PublishRequest: {
    volumeId: 'string 1',
    publishContext: 'map<string,string> 2',
    stagingTargetPath: 'string 3',
    targetPath: 'string 4',
    volumeCapability: 'VolumeCapability 5',
    readonly: 'bool 6',
    secrets: 'map<string,string> 7',
    volumeContext: 'map<string,string> 8',
  },
  UnpublishRequest: { volumeId: 'string 1', targetPath: 'string 2' },
  CapacityRange: { requiredBytes: 'int64 1', limitBytes: 'int64 2' },
  ExpandRequest: {
    volumeId: 'string 1',
    volumePath: 'string 2',
    capacityRange: 'CapacityRange 3',
    stagingTargetPath: 'string 4',
    volumeCapability: 'VolumeCapability 5',
    secrets: 'map<string,string> 6',
  },
  ExpandResponse: { capacityBytes: 'int64 1' },
  StatsRequest: { volumeId: 'string 1', volumePath: 'string 2', stagingTargetPath: 'string 3' },
  VolumeUsage: { available: 'int64 1', total: 'int64 2', used: 'int64 3', unit: 'UsageUnit 4' },
  StatsResponse: { usage: 'repeated VolumeUsage 1' },

  PluginInfo: {
    type: 'string 1',
    name: 'string 2',
    endpoint: 'string 3',
    supportedVersions: 'repeated string 4',
  },
  RegistrationStatus: { pluginRegistered: 'bool 1', error: 'string 2' },
})

const enums = Object.freeze({
  CapabilityType: {
    UNKNOWN: 0,
    STAGE_UNSTAGE_VOLUME: 1,
    GET_VOLUME_STATS: 2,
    EXPAND_VOLUME: 3,
    VOLUME_CONDITION: 4,
    SINGLE_NODE_MULTI_WRITER: 5,
    VOLUME_MOUNT_GROUP: 6,
  },
  AccessModeType: {
    UNKNOWN: 0,
    SINGLE_NODE_WRITER: 1,
    SINGLE_NODE_READER_ONLY: 2,
    MULTI_NODE_READER_ONLY: 3,
    MULTI_NODE_SINGLE_WRITER: 4,
    MULTI_NODE_MULTI_WRITER: 5,
    SINGLE_NODE_SINGLE_WRITER: 6,
    SINGLE_NODE_MULTI_WRITER: 7,
  },
  UsageUnit: { UNKNOWN: 0, BYTES: 1, INODES: 2 },
})

export const nodeService: ServiceShape = Object.freeze({
  package: 'csi.v1',
  service: 'Node',
  methods: {
    NodeGetInfo: ['Empty', 'NodeInfoResponse'],
    NodeGetCapabilities: ['Empty', 'NodeCapabilitiesResponse'],
    NodeStageVolume: ['StageRequest', 'Empty'],
    NodeUnstageVolume: ['UnstageRequest', 'Empty'],
    NodePublishVolume: ['PublishRequest', 'Empty'],
    NodeUnpublishVolume: ['UnpublishRequest', 'Empty'],
    NodeExpandVolume: ['ExpandRequest', 'ExpandResponse'],
    NodeGetVolumeStats: ['StatsRequest', 'StatsResponse'],
  },
  messages,
  enums,
} as const)

export const registrationService: ServiceShape = Object.freeze({
  package: 'pluginregistration',
  service: 'Registration',
  methods: {
    GetInfo: ['Empty', 'PluginInfo'],
    NotifyRegistrationStatus: ['RegistrationStatus', 'Empty'],
  },
  messages,
  enums,
} as const)
