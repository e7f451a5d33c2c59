//! Claims of devices.

use model::Map;

use super::Fields;

pub(super) fn claim(object: &mut Map) {
    object.within("spec", spec);
}

pub(super) fn template(object: &mut Map) {
    object.within("spec", |template| template.within("spec", spec));
}

fn spec(spec: &mut Map) {
    spec.within("devices", |devices| {
        devices.each("requests", |request| {
            request.within("exactly", device);
            request.each("firstAvailable", device);
        });
    });
}

fn device(request: &mut Map) {
    request.default("allocationMode", "ExactCount");
    if request.text("allocationMode") == "ExactCount" {
        request.default("count", 1);
    }
    request.each("tolerations", |toleration| {
        toleration.default("operator", "Equal")
    });
}
