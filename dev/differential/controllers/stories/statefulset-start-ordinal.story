# Ordinals from five on; moving the start moves the pods.

### two from five
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    ordinals: {start: 5}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### from six
patch statefulsets/web {spec: {ordinals: {start: 6}}}
evolve
