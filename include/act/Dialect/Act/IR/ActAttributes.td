//===- ActAttributes.td - Encodings of the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTATTRIBUTES_TD
#define ACT_DIALECT_ACT_IR_ACTATTRIBUTES_TD

include "act/Dialect/Act/IR/ActBase.td"
include "act/Dialect/Act/IR/ActEnums.td"
include "act/Dialect/Act/IR/ActInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Act_Encoding<string name, string attrMnemonic,
                   list<string> overriddenMethods = []>
    : AttrDef<Act_Dialect, name,
        [DeclareAttrInterfaceMethods<Act_EncodingAttrInterface,
                                     overriddenMethods>]> {
  let mnemonic = attrMnemonic;
}

def Act_RawAttr : Act_Encoding<"Raw", "raw"> {
  let summary = "The tensor itself";
  let description = [{
    Stores the value unchanged. Applies to every ranked tensor.
  }];
}

def Act_GroupQuantAttr : Act_Encoding<"GroupQuant", "group_quant"> {
  let summary = "Integer codes with a minimum and a step per group of elements";
  let description = [{
    Splits the elements along one axis into groups and stores every element as an
    unsigned code of `bits` bits with two parameters per group, the minimum `m`
    and the step `s`. With `L = 2^bits - 1` and all arithmetic in f32:

    ```
    m = round_down(min x)         s = max(round_up((max x - m) / L), 1e-30)
    q = clamp(floor((x - m) / s + u), 0, L)           decoded: q * s + m
    ```

    `round_down` and `round_up` round to the parameter type, so the codes are
    derived from what is stored. `u` is 1/2 for `nearest`, and for `stochastic` a
    number in [0, 1) hashed from the save's id, the element's index and its bits,
    which makes the decoded value unbiased (compare GACT, arXiv 2206.11357,
    section 3; unlike its code, both clamps are applied and the range is not
    polluted by padding). A NaN, an infinity or a range wider than the
    largest f32 makes its whole group decode to NaN.

    `axis` is the axis to split; -1, the default, is the last. With `merge` = n the
    last n axes are taken as one (for tensors whose last axis is shorter than a
    group); an axis that is sharded must not be merged, since that would gather
    it. Groups are never longer than the axis. If the group does not divide the
    axis the last group is shorter and its missing codes are stored as padding.

    For a tensor `[a, n, b]` split along `n` with `G` elements a group, the storage
    is

    * codes, `ui8[a, ceil(n/G), ceil(G*bits/8), b]`: code `i` of a group is in byte
      `i mod W`, `W = ceil(G*bits/8)`, at bit `bits * (i div W)`;
    * minimum and step, `params[a, ceil(n/G), 1, b]` each.

    Constraints:

    * C1: `bits` is 1, 2, 4 or 8.
    * C2: `group` is at least 2.
    * C3: `params` is `f32` or `bf16`.
    * C4: `merge` is at least 1, and 1 unless `axis` is -1.
    * C5: `axis` is at least -1.
    * C6: the tensor has a floating-point element type of 16, 32 or 64 bits, a
      static shape, at least one element and more axes than `axis`, and at least
      `merge` axes.
  }];
  let parameters = (ins
    "unsigned":$bits,
    "int64_t":$group,
    DefaultValuedParameter<"int64_t", "-1">:$axis,
    DefaultValuedParameter<"int64_t", "1">:$merge,
    DefaultValuedParameter<"::mlir::act::Rounding",
                           "::mlir::act::Rounding::Stochastic">:$rounding,
    DefaultValuedParameter<"::mlir::Type",
                           "::mlir::BFloat16Type::get($_ctxt)">:$params);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Act_AxisQuantAttr : Act_Encoding<"AxisQuant", "axis_quant",
                                     ["getRunningAxis"]> {
  let summary = "Integer codes with one range per index of an axis";
  let description = [{
    One minimum and one step for every index of `axis`: a range per head or per
    channel, as in Mesa (arXiv 2111.11124, section 3.2). Codes and parameters are
    computed as for `group_quant`, in f32.

    With `range = batch` the range is that of the value being stored. With `range =
    running` it is an average over steps that `act.update_range` keeps: the save takes
    it as its operand `range`, and values outside of it become its lowest or highest
    code. The step of the codes is then `s = max(width / L, 1e-30)`, and NaN where the
    width is NaN, so that what was stored there decodes to NaN.

    Either way the parameters are stored with the codes, as values that no later update
    changes. The storage of a tensor `[a, n, b]` with `axis` = 1 is

    * codes, `ui8[a, n, ceil(b*bits/8)]`, packed along the last axis: code `i` is in
      byte `i mod W`, `W = ceil(b*bits/8)`, at bit `bits * (i div W)`;
    * minimum and step, `f32[1, n, 1]` each.

    Constraints:

    * C1: `bits` is 1, 2, 4 or 8.
    * C2: `axis` is not negative.
    * C3: the tensor has a floating-point element type of 16, 32 or 64 bits, a
      static shape, at least one element and more axes than `axis`.
  }];
  let parameters = (ins
    "unsigned":$bits,
    "int64_t":$axis,
    DefaultValuedParameter<"::mlir::act::Rounding",
                           "::mlir::act::Rounding::Stochastic">:$rounding,
    DefaultValuedParameter<"::mlir::act::Range",
                           "::mlir::act::Range::Batch">:$range);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Act_FloatAttr : Act_Encoding<"FloatCode", "float"> {
  let summary = "A shorter floating-point type, scaled per group or not at all";
  let description = [{
    Rounds every element to `type`, to the nearest. With `group` = 0 (the default)
    the value is converted as it is and saturates at the largest finite number of
    `type`; NaN and infinities become NaN. Otherwise groups of that many elements
    along the last axis share an f32 scale `s = max|x| / max(type)` and `x / s` is
    stored; a group that is all zero has the scale 1. For bf16 2^64 stands for
    max(type), so that the scale is a normal number.

    The storage of a tensor `[a, n]` is `type[a, n]` without scales, and
    `type[a, ceil(n/G), G]` and `f32[a, ceil(n/G), 1]` with them.

    Constraints:

    * C1: `type` is `f8E4M3FN`, `f8E5M2`, `bf16` or `f16`.
    * C2: `group` is 0 or at least 2.
    * C3: the tensor has a floating-point element type wider than `type`, a static
      shape, at least one element and at least one axis.
  }];
  let parameters = (ins
    "::mlir::Type":$type,
    DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Act_MaskAttr : Act_Encoding<"Mask", "mask"> {
  let summary = "One bit per element of an i1 tensor";
  let description = [{
    Lossless. The last `merge` axes are taken as one and packed: the storage of a
    tensor `[a, n]` is `ui8[a, ceil(n/8)]`; element `i` is in byte `i mod W`,
    `W = ceil(n/8)`, at bit `i div W`.

    With `group` = G each G elements are packed by themselves, as `ui8[a,
    ceil(n/G), G/8]`, so that an axis can be sharded at the borders of groups
    without moving bits between devices.

    Constraints:

    * C1: `merge` is at least 1.
    * C2: the tensor has element type `i1`, a static shape, at least one element and
      at least `merge` axes.
    * C3: `group` is 0 or a positive multiple of 8.
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "1">:$merge,
    DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Act_NarrowAttr : Act_Encoding<"Narrow", "narrow"> {
  let summary = "Bounded integers in fewer bits";
  let description = [{
    Lossless for values in [0, 2^bits), which whoever chooses the encoding has to
    prove. The last `merge` axes are taken as one. With 16 bits the storage is
    `ui16` of the same shape, with 8 bits `ui8`; fewer bits are packed as for
    `mask`: `ui8[a, ceil(n*bits/8)]`, or `ui8[a, ceil(n/G), G*bits/8]` with `group` =
    G.

    Constraints:

    * C1: `bits` is 1, 2, 4, 8 or 16.
    * C2: `merge` is at least 1.
    * C3: the tensor has an integer element type of more than `bits` bits, a static
      shape, at least one element and at least `merge` axes.
    * C4: `group` is 0 or a positive multiple of 8.
  }];
  let parameters = (ins
    "unsigned":$bits,
    DefaultValuedParameter<"int64_t", "1">:$merge,
    DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // ACT_DIALECT_ACT_IR_ACTATTRIBUTES_TD
