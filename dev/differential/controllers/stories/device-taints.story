# Pods whose devices are tainted have to go, unless their claims tolerate it.
Show: pods, events
Counts: vary
Quiet: 1500ms

### pods with devices
create
  kind: Node
  metadata: {name: devices-n1, labels: {story: devices}}
create
  kind: ResourceSlice
  metadata: {name: devices-slice}
  spec:
    driver: devices.example.com
    pool: {name: pool, generation: 1, resourceSliceCount: 1}
    nodeName: devices-n1
    devices: [{name: a}, {name: b}, {name: c}]
create
  kind: ResourceClaim
  metadata: {name: claim-a}
  spec: {devices: {requests: [{name: card, exactly: {deviceClassName: cards}}]}}
create
  kind: ResourceClaim
  metadata: {name: claim-b}
  spec: {devices: {requests: [{name: card, exactly: {deviceClassName: cards, tolerations: [{key: hot, operator: Exists, effect: NoExecute}]}}]}}
create
  kind: ResourceClaim
  metadata: {name: claim-c}
  spec: {devices: {requests: [{name: card, exactly: {deviceClassName: cards, tolerations: [{key: hot, operator: Exists, effect: NoExecute, tolerationSeconds: 3600}]}}]}}
patch resourceclaims/claim-a/status {status: {allocation: {devices: {results: [{request: card, driver: devices.example.com, pool: pool, device: a}]}}}}
patch resourceclaims/claim-b/status {status: {allocation: {devices: {results: [{request: card, driver: devices.example.com, pool: pool, device: b, tolerations: [{key: hot, operator: Exists, effect: NoExecute}]}]}}}}
patch resourceclaims/claim-c/status {status: {allocation: {devices: {results: [{request: card, driver: devices.example.com, pool: pool, device: c, tolerations: [{key: hot, operator: Exists, effect: NoExecute, tolerationSeconds: 3600}]}]}}}}
create
  kind: Pod
  metadata: {name: web-a}
  spec:
    resourceClaims: [{name: card, resourceClaimName: claim-a}]
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1", resources: {claims: [{name: card}]}}]
create
  kind: Pod
  metadata: {name: web-b}
  spec:
    resourceClaims: [{name: card, resourceClaimName: claim-b}]
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1", resources: {claims: [{name: card}]}}]
create
  kind: Pod
  metadata: {name: web-c}
  spec:
    resourceClaims: [{name: card, resourceClaimName: claim-c}]
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1", resources: {claims: [{name: card}]}}]
bind devices-n1
wait resourceclaims/claim-a status.reservedFor.0.name
wait resourceclaims/claim-b status.reservedFor.0.name
wait resourceclaims/claim-c status.reservedFor.0.name
run

### nothing may be scheduled there
patch resourceslices/devices-slice {spec: {devices: [{name: a, taints: [{key: hot, effect: NoSchedule}]}, {name: b}, {name: c}]}}

### nothing may run there
patch resourceslices/devices-slice {spec: {devices: [{name: a, taints: [{key: hot, effect: NoExecute}]}, {name: b, taints: [{key: hot, effect: NoExecute}]}, {name: c, taints: [{key: hot, effect: NoExecute}]}]}}

### it may again
gone
patch resourceslices/devices-slice {spec: {devices: [{name: a}, {name: b}, {name: c}]}}
