import type { ServiceShape } from '../cri/grpc-channel.ts'

/**
 * The API of device plugins (v1beta1), as `field: 'type number'`. Field numbers are the wire contract (api.proto of
 * k8s.io/kubelet's deviceplugin/v1beta1).
 */
const messages = Object.freeze({
  Empty: {},
  DevicePluginOptions: { preStartRequired: 'bool 1', getPreferredAllocationAvailable: 'bool 2' },
  RegisterRequest: {
    version: 'string 1',
    endpoint: 'string 2',
    resourceName: 'string 3',
    options: 'DevicePluginOptions 4',
  },
  Device: { id: 'string 1', health: 'string 2' },
  ListAndWatchResponse: { devices: 'repeated Device 1' },
  ContainerPreferredRequest: {
    available: 'repeated string 1',
    mustInclude: 'repeated string 2',
    allocationSize: 'int32 3',
  },
  PreferredRequest: { containerRequests: 'repeated ContainerPreferredRequest 1' },
  ContainerPreferredResponse: { deviceIds: 'repeated string 1' },
  PreferredResponse: { containerResponses: 'repeated ContainerPreferredResponse 1' },
  ContainerAllocateRequest: { deviceIds: 'repeated string 1' },
  AllocateRequest: { containerRequests: 'repeated ContainerAllocateRequest 1' },
  Mount: { containerPath: 'string 1', hostPath: 'string 2', readOnly: 'bool 3' },
  DeviceSpec: { containerPath: 'string 1', hostPath: 'string 2', permissions: 'string 3' },
  CdiDevice: { name: 'string 1' },
  ContainerAllocateResponse: {
    envs: 'map<string,string> 1',
    mounts: 'repeated Mount 2',
    devices: 'repeated DeviceSpec 3',
    annotations: 'map<string,string> 4',
    cdiDevices: 'repeated CdiDevice 5',
  },
  AllocateResponse: { containerResponses: 'repeated ContainerAllocateResponse 1' },
  PreStartRequest: { deviceIds: 'repeated string 1' },
})

const shape = { package: 'v1beta1', messages, enums: {} }

/** The service of this node, at which plugins register. */
export const deviceRegistration: ServiceShape = Object.freeze({
  ...shape,
  service: 'Registration',
  methods: { Register: ['RegisterRequest', 'Empty'] as const },
})

/** The service of each plugin. */
export const devicePlugin: ServiceShape = Object.freeze({
  ...shape,
  service: 'DevicePlugin',
  methods: {
    GetDevicePluginOptions: ['Empty', 'DevicePluginOptions'] as const,
    ListAndWatch: ['Empty', 'stream ListAndWatchResponse'] as const,
    GetPreferredAllocation: ['PreferredRequest', 'PreferredResponse'] as const,
    Allocate: ['AllocateRequest', 'AllocateResponse'] as const,
    PreStartContainer: ['PreStartRequest', 'Empty'] as const,
  },
})
