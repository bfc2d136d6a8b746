// SPDX-License-Identifier: Apache-2.0
// Balls without triangles: a square (or, for many small ones, a point) that covers the ball, and for
// each of its pixels the exact meeting of the line of sight with the ball, with its depth. All in the
// camera's frame. With c the centre, d the direction of sight, b = d.c and p = c - b d, the ball is met
// where |p| < r, at distance b - sqrt(r² - p²); taking p as a vector keeps small balls far away exact.
//
// A section plane n.x + w = 0 takes away n.x + w > 0; where it cuts a ball, its cut face is drawn.
//
// What covers the ball lies before it. Where the browser can be told so (EXT_conservative_depth), balls
// behind others are dropped before any of this is computed. SMALL balls are disks through their centres,
// shaded as balls, for which every GPU does that.

const TO_LINEAR = /* glsl */ `
vec3 toLinear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
`;

export const BALL_VERTEX = /* glsl */ `
precision highp float;
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
in vec3 position;
in vec3 centre;
in float radius;
in float value;
#ifdef TURNED
in vec4 turn;
flat out vec4 vTurn;
#endif
uniform float scale;
uniform float pixels;   // half of the height of the picture in pixels
#ifdef SMALL
flat out float vSharp;  // the edge is half of 1 / vSharp radii wide
flat out float vReach;  // half of the point, in radii
#endif
flat out float vSteep;  // 1 / width of the edge in pixels
flat out vec3 vCentre;
flat out float vRadius;
flat out vec3 vColour;
out vec2 vCorner;
flat out int vIndex;
#ifndef POINTS
out vec3 vPlace;
#endif
uniform sampler2D ramp;
uniform vec2 range;
uniform vec3 none;
${TO_LINEAR}
vec3 base() {
    if (value < -1e29) return none;
    float t = clamp((value - range.x) / (range.y - range.x), 0.0, 1.0);
    return toLinear(texelFetch(ramp, ivec2(int(t * 255.0 + 0.5), 0), 0).rgb);
}
void main() {
    vec4 c = modelViewMatrix * vec4(centre, 1.0);
    float r = radius * scale;
    vCentre = c.xyz;
    vRadius = r;
    vColour = base();
    float wide = r * projectionMatrix[1][1] * pixels / max(-c.z, 1e-9); // radius in pixels
    vSteep = clamp(10.0 / wide, 1.0, 2.0);
    vIndex = gl_InstanceID;
#ifdef TURNED
    vTurn = turn;
#endif
#ifdef POINTS
    vIndex = gl_VertexID;
    gl_Position = projectionMatrix * c;
#ifndef SMALL
    // The point's depth is that of the nearest point of the ball.
    vec4 front = projectionMatrix * vec4(c.xy, min(c.z + r, -1e-9), 1.0);
    gl_Position.z = front.z / front.w * gl_Position.w;
#endif
#ifdef SMALL
    wide = max(wide, 0.6); // nothing vanishes between the middles of pixels
    vSharp = max(wide, 6.0 / wide);
    vReach = 1.0 + 0.5 / wide;
    gl_PointSize = 2.0 * wide * vReach;
#else
    // Away from the axis a ball is seen as an ellipse.
    gl_PointSize = 2.1 * wide * length(c.xyz) / max(-c.z, 1e-9) + 1.0;
#endif
    vCorner = vec2(0.0);
    if (r <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#else
    vCorner = position.xy;
    vec3 place;
#ifdef FLAT
    place = c.xyz + r * vec3(position.xy, 0.0) * 1.02;
    vCorner *= 1.02;
#else
    // The rim of the ball as it is seen lies on a circle about the direction of its centre.
    float far = length(c.xyz);
    vec3 w = c.xyz / far;
    vec3 u = normalize(cross(w, abs(w.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
    vec3 v = cross(u, w);
    float s = far > r ? r * far / sqrt(far * far - r * r) : 0.0;
    place = c.xyz + s * 1.05 * (position.x * u + position.y * v);
    // The same square, seen from the camera, but before the ball.
    place *= max(far - 1.01 * r, 0.0) / far;
#endif
    vPlace = place;
    gl_Position = projectionMatrix * vec4(place, 1.0);
#endif
}
`;

/** Light as the lamps of the stage give it, shared by everything that is drawn. */
export const LIGHT = /* glsl */ `
${TO_LINEAR}
uniform vec3 lamp;      // direction to the lamp, camera's frame
uniform vec3 shine;     // half way from there to the eye
uniform vec3 above;     // up, camera's frame
vec3 lit(vec3 colour, vec3 n) {
    float key = max(dot(n, lamp), 0.0);
    float sky = 0.5 + 0.5 * dot(n, above);
    float g = max(dot(n, shine), 0.0);
    g *= g;
    g *= g;
    g *= g;
    float gloss = g * g * g * g * g * 0.10;
    return colour * (0.62 * key + mix(0.24, 0.50, sky)) + gloss;
}
`;

export const BALL_FRAGMENT = /* glsl */ `
precision highp float;
precision highp int;
layout(location = 0) out highp vec4 picture;
uniform mat4 projectionMatrix;
uniform vec3 background;
uniform float fade;     // towards the background
uniform int selected;
uniform vec3 accent;
uniform vec4 plane;     // section, camera's frame; 0: none
uniform float pixels;
uniform vec2 screen;
#ifdef SMALL
flat in float vSharp;
flat in float vReach;
#endif
flat in float vSteep;
flat in vec3 vCentre;
flat in float vRadius;
flat in vec3 vColour;
in vec2 vCorner;
flat in int vIndex;
#ifndef POINTS
in vec3 vPlace;
#endif
#ifdef TURNED
flat in vec4 vTurn;
uniform mat3 cameraToWorld;
vec3 unturn(vec3 v) { vec3 q = -vTurn.yzw; return v + 2.0 * cross(q, cross(q, v) + vTurn.x * v); }
#endif
${LIGHT}
// sRGB; from 0.0031308 on roots in place of the power 1/2.4, within 0.1/255 of it.
void finish(vec3 colour, float alpha) {
#ifdef FLAT
    vec3 c = mix(colour, background, fade);
#else
    vec3 c = colour;
#endif
    vec3 root = sqrt(c);
    vec3 curve = 0.83371446 * root + 0.29814081 * sqrt(root) - 0.05530362 * c - 0.0769107;
    picture = vec4(mix(12.92 * c, curve, step(0.0031308, c)), alpha);
}
#ifdef FLAT
void main() {
    float rho = length(vCorner);
    float w = max(fwidth(rho), 1e-4);
    if (rho > 1.0) discard;
    vec3 colour = vColour;
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, vPlace) + plane.w > 0.0) discard;
#ifdef TURNED
    vec3 m = unturn(vec3(vCorner, 0.0));
    float spoke = smoothstep(1.5 * w, 0.5 * w, abs(m.y) - 0.04) * step(0.0, m.x);
    colour *= 1.0 - 0.45 * spoke;
#endif
    float rim = smoothstep(1.0 - 3.0 * w, 1.0 - 1.5 * w, rho) * smoothstep(0.25, 0.05, w);
    colour *= 1.0 - 0.55 * rim;
    if (vIndex == selected) colour = mix(colour, accent, smoothstep(0.72, 0.76, rho));
    finish(colour, 1.0 - smoothstep(1.0 - w, 1.0, rho));
}
#elif defined(SMALL)
void main() {
    vec2 p = (2.0 * gl_PointCoord - 1.0) * vec2(vReach, -vReach);
    float h = 1.0 - dot(p, p);
    if (h <= 0.0) discard;
    vec3 n = vec3(p, sqrt(h));
    vec3 colour = vColour;
#ifdef TURNED
    vec3 m = unturn(cameraToWorld * n);
    colour *= 1.0 - 0.35 * step(0.0, m.z * sign(m.x));
#endif
    if (vIndex == selected) colour = accent;
    finish(lit(colour, n), min(h * vSharp, 1.0));
}
#else
void main() {
#ifdef POINTS
    // The line of sight through this pixel.
    vec2 ndc = 2.0 * gl_FragCoord.xy / screen - 1.0;
    vec3 d = normalize(vec3(ndc.x / projectionMatrix[0][0], ndc.y / projectionMatrix[1][1], -1.0));
#else
    vec3 d = normalize(vPlace);
#endif
    float b = dot(d, vCentre);
    vec3 p = vCentre - b * d;
    float h = vRadius * vRadius - dot(p, p);
    // How much of the pixel the ball covers, for smooth edges. Those of small balls are narrow, so that they hide.
    float edge = vSteep * h / max(fwidth(h), 1e-12);
    if (h <= 0.0) discard;
    float s = sqrt(h);
    float t = b - s;
    vec3 n = (-p - s * d) / vRadius;
    vec3 colour = vColour;
    bool cut = false;
    if (plane.xyz != vec3(0.0) && dot(plane.xyz, t * d) + plane.w > 0.0) {
        float slope = dot(plane.xyz, d);
        float at = abs(slope) > 1e-9 ? -plane.w / slope : -1.0;
        if (slope >= 0.0 || at < t || at > b + s) discard;
        t = at;
        n = plane.xyz;
        cut = true;
    }
    vec3 hit = t * d;
    vec4 clip = projectionMatrix * vec4(hit, 1.0);
    if (clip.z < -clip.w) discard;
    gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
#ifdef TURNED
    if (!cut) {
        vec3 m = unturn(cameraToWorld * n);
        float w = max(fwidth(m.z), 1e-3);
        colour *= 1.0 - 0.35 * smoothstep(-w, w, m.z * sign(m.x));
    }
#endif
    if (vIndex == selected) colour = mix(colour, accent, 0.35 + 0.65 * smoothstep(0.55, 0.75, length(p) / vRadius));
    finish(lit(cut ? colour * 0.92 : colour, n), clamp(edge, 0.0, 1.0));
}
#endif
`;

/** What stands before a fragment shader that only moves depths away from the camera. */
export const DEPTH_GREATER = `#extension GL_EXT_conservative_depth : enable
layout(depth_greater) out highp float gl_FragDepth;
`;
