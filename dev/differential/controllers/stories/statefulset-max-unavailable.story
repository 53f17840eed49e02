# Two at once may be away during an update, where the server knows the field.

### four run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 4
    podManagementPolicy: Parallel
    updateStrategy: {rollingUpdate: {maxUnavailable: 2}}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### a new image
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### on
evolve
