# A pod that failed or ended is made anew under its name.

### two run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### the first fails
fail web-0

### the second ends
run web-0
succeed web-1

### a set that waits: the first is not ready
unready web-0
patch statefulsets/web {spec: {replicas: 3}}
