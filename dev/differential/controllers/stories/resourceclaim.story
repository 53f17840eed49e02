# Claims of devices from templates.
Show: resourceclaims, pods, events
Counts: vary

### before the template is there
create
  kind: Pod
  metadata: {name: web}
  spec:
    resourceClaims: [{name: gpu, resourceClaimTemplateName: card}, {name: shared, resourceClaimName: shared}]
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1", resources: {claims: [{name: gpu}]}}]
settle

### the template is there
create
  kind: ResourceClaimTemplate
  metadata: {name: card}
  spec:
    metadata: {labels: {a: b}, annotations: {c: d}}
    spec: {devices: {requests: [{name: card, exactly: {deviceClassName: cards}}]}}
wait resourceclaims length = 1

### a claim is allocated, and the pod is bound by hand
create
  kind: ResourceClaim
  metadata: {name: shared, finalizers: [resource.kubernetes.io/delete-protection]}
  spec: {devices: {requests: [{name: card, exactly: {deviceClassName: cards}}]}}
patch resourceclaims/shared/status {status: {allocation: {devices: {results: [{request: card, driver: a.example.com, pool: a, device: c}]}}}}
create
  kind: Node
  metadata: {name: claims-n1, labels: {story: claims}}
bind claims-n1 web

### the pod ends
succeed web
wait resourceclaims length = 1
settle
